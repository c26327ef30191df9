import { mount } from "svelte";
import "./app.css";
import Operator from "./views/operator/Operator.svelte";

mount(Operator, { target: document.getElementById("app")! });
