// The drawing itself: sigma.js over graphology. A chunk of its own, loaded when there is something to draw.
import { MultiDirectedGraph } from "graphology";
import Sigma from "sigma";
import { EdgeLineProgram, NodePointProgram, drawDiscNodeLabel, type NodeHoverDrawingFunction, type NodeLabelDrawingFunction } from "sigma/rendering";
import type { Graph, Path, Shown } from "./model";

/** What is drawn, but for the graph and where its nodes are. */
export interface Look {
  shown: Shown;
  /** Of each node. */
  colours: string[];
  /** Indices of nodes. */
  chosen: number | undefined;
  /** Of the chosen one. */
  near: Set<number>;
  path: Path | undefined;
  dark: boolean;
}

interface Inks {
  text: string;
  ground: string;
  edge: string;
  strongEdge: string;
  faded: string;
  mark: string;
}
const inks = (dark: boolean): Inks =>
  dark
    ? { text: "#e9e9e6", ground: "#212429", edge: "#3a3f47", strongEdge: "#a3a8b1", faded: "#2c2f35", mark: "#ffffff" }
    : { text: "#1b1c1e", ground: "#ffffff", edge: "#d3d3cd", strongEdge: "#5b6068", faded: "#e7e7e3", mark: "#000000" };

const longestLabel = 42; // characters
const many = 3_000; // lines; above it they move as a picture while the camera moves
const crowd = 2_000; // nodes; above it each is drawn smaller
const slowFrame = 22; // milliseconds between frames on average, above which nodes are not drawn while the camera moves
const slice = 5_000; // lines that are made ready between two frames
const margin = 44; // pixels around all that is shown, where names find room
const settled = 160; // milliseconds without a move of the camera, after which all is drawn anew
const unhurried = 300; // milliseconds that data which come soon have come in
const resting = 600; // milliseconds without a new frame, after which its picture is taken
const labelOf = (title: string): string => {
  const all = [...title.slice(0, longestLabel * 2).replace(/\s+/g, " ")];
  return all.length > longestLabel ? all.slice(0, longestLabel - 1).join("") + "…" : all.join("") || "Without a title";
};

const nothing: Graph = { nodes: [], lines: [], index: new Map(), domains: [] };

/** One dot and one line that nobody sees: drawing them has the programs of the graphics card made. */
function specimen(): MultiDirectedGraph {
  const model = new MultiDirectedGraph();
  const unseen = { size: 1, color: "rgba(0, 0, 0, 0)" };
  model.addNode("a", { x: 0, y: 0, ...unseen });
  model.addNode("b", { x: 1, y: 1, ...unseen });
  model.addEdge("a", "b", unseen);
  return model;
}

/** The next frame has been drawn. */
const frame = (): Promise<void> => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

/**
 * Made before there is anything to draw, while the data are on their way: contexts
 * and programs of WebGL take longer than drawing some hundred nodes.
 */
export class Drawing {
  #graph = nothing;
  #positions: Float32Array = new Float32Array();
  #look: Look | undefined;
  #sigma: Sigma;
  #ink: Inks;
  /** Its own element: put to where a graph is to be shown. */
  readonly #host = document.createElement("div");
  /** Counts what was shown; what was begun for another one ends. */
  #turn = 0;
  /** Lines are not drawn while this is true: their picture is moved instead. */
  #moving = false;
  /** Nodes, too, are moved as a picture: drawing them takes too long here. */
  #slow = false;
  /** Where the middle of the graph was when the picture of the lines was taken. */
  #pictured: { x: number; y: number; ratio: number } | undefined;
  /** The camera is put somewhere by this class, which is no movement. */
  #placing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #unhide: ReturnType<typeof setTimeout>;
  readonly #still = matchMedia("(prefers-reduced-motion: reduce)").matches;

  /** Throws where there is no WebGL. The element is of the size that the picture will have: giving the canvases another one takes long, too. */
  constructor(into: HTMLElement, dark: boolean, onchoose: (node: number | undefined) => void) {
    this.#ink = inks(dark);
    const host = this.#host;
    host.className = "drawing";
    // Putting the canvases on the page takes a moment, too, which data that come at once would wait for.
    host.style.visibility = "hidden";
    this.#unhide = setTimeout(() => (host.style.visibility = "visible"), unhurried);
    into.append(host);

    const isMoving = (): boolean => this.#moving;
    const isSlow = (): boolean => this.#slow;
    class Lines extends EdgeLineProgram {
      override render(params: Parameters<EdgeLineProgram["render"]>[0]): void {
        if (!isMoving()) super.render(params);
      }
    }
    class Dots extends NodePointProgram {
      override render(params: Parameters<NodePointProgram["render"]>[0]): void {
        if (isMoving() && isSlow()) return;
        // Nobody points at a node while the picture is dragged: what tells which one it was need not be drawn.
        const pick = this.pickProgram;
        if (isMoving()) this.pickProgram = null;
        super.render(params);
        this.pickProgram = pick;
      }
    }
    const label: NodeLabelDrawingFunction = (context, data, settings) => {
      // A seam in the ground's colour, so that it is read also over other nodes.
      if (typeof data.label === "string") {
        context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`;
        context.strokeStyle = this.#ink.ground;
        context.lineWidth = 3;
        context.lineJoin = "round";
        context.strokeText(data.label, data.x + data.size + 3, data.y + settings.labelSize / 3);
      }
      drawDiscNodeLabel(context, data, settings);
    };
    const hover: NodeHoverDrawingFunction = (context, data, settings) => {
      const size = settings.labelSize;
      context.font = `${settings.labelWeight} ${size}px ${settings.labelFont}`;
      const text = typeof data.label === "string" ? data.label : "";
      const width = context.measureText(text).width;
      context.fillStyle = this.#ink.ground;
      context.strokeStyle = this.#ink.strongEdge;
      context.lineWidth = 1;
      context.beginPath();
      context.roundRect(data.x - data.size - 4, data.y - size, data.size * 2 + width + 14, size * 2, 6);
      context.fill();
      context.stroke();
      context.beginPath();
      context.arc(data.x, data.y, data.size, 0, Math.PI * 2);
      context.fillStyle = data.color;
      context.fill();
      label(context, data, settings);
    };
    this.#sigma = new Sigma(specimen(), host, {
      allowInvalidContainer: true,
      // Under the names of the library's own, which would be made ready as well.
      defaultEdgeType: "line",
      edgeProgramClasses: { line: Lines, arrow: Lines },
      defaultNodeType: "circle",
      nodeProgramClasses: { circle: Dots },
      defaultDrawNodeLabel: label,
      defaultDrawNodeHover: hover,
      labelColor: { color: this.#ink.text },
      labelFont: getComputedStyle(document.body).fontFamily,
      labelSize: 12,
      labelDensity: 0.6,
      labelGridCellSize: 120,
      stagePadding: 30,
      minCameraRatio: 0.01,
      maxCameraRatio: 4,
      zIndex: true,
      nodeReducer: (key, data) => this.#node(Number(key), data),
      edgeReducer: (key, data) => this.#line(Number(key), data),
    });
    this.#sigma.on("clickNode", ({ node }) => onchoose(Number(node)));
    this.#sigma.on("clickStage", () => onchoose(undefined));
    this.#sigma.on("doubleClickStage", ({ preventSigmaDefault }) => preventSigmaDefault());
    this.#sigma.on("enterNode", () => (host.style.cursor = "pointer"));
    this.#sigma.on("leaveNode", () => (host.style.cursor = ""));
    this.#pictureLines();
  }

  /** Draws a graph in the element. Large ones come in two steps, the nodes and then the lines. True when all of it is drawn, false when something else is by then. */
  async show(into: HTMLElement, graph: Graph, positions: Float32Array, look: Look): Promise<boolean> {
    const turn = ++this.#turn;
    const sigma = this.#sigma;
    const large = graph.lines.length > many;
    [this.#graph, this.#positions] = [graph, positions];
    this.#ink = inks(look.dark);
    this.#look = look;
    sigma.setSettings({
      labelColor: { color: this.#ink.text },
      // In a small graph there is room for every name; in a large one only for those with many edges.
      labelRenderedSizeThreshold: graph.nodes.length <= 150 ? 0 : graph.nodes.length <= 1_000 ? 3.5 : 5,
      hideLabelsOnMove: large,
    });
    if (this.#host.parentElement !== into) into.append(this.#host);
    clearTimeout(this.#unhide);
    this.#host.style.visibility = "visible";
    const first = this.#dots();
    if (!large) this.#draw(first, 0, graph.lines.length);
    sigma.setGraph(first);
    this.#place();
    if (!large) {
      await frame();
      return turn === this.#turn;
    }
    const all = this.#dots();
    for (let i = 0; i < graph.lines.length; i += slice) {
      await frame();
      if (turn !== this.#turn) return false;
      this.#draw(all, i, i + slice);
    }
    this.#put(all); // they may have moved since
    sigma.setGraph(all);
    await frame();
    return turn === this.#turn;
  }

  #dots(): MultiDirectedGraph {
    const model = new MultiDirectedGraph();
    const { nodes } = this.#graph;
    nodes.forEach((n, i) =>
      model.addNode(String(i), { x: this.#positions[i * 2]!, y: this.#positions[i * 2 + 1]!, size: Math.min(14, 2.2 + Math.sqrt(n.degree) * 0.75) * (nodes.length > crowd ? 0.6 : 1), label: labelOf(n.title) }),
    );
    return model;
  }

  /** Adds lines from one index up to another. */
  #draw(model: MultiDirectedGraph, from: number, to: number): void {
    const { lines } = this.#graph;
    for (let i = from; i < to && i < lines.length; i++) model.addDirectedEdgeWithKey(String(i), String(lines[i]!.a), String(lines[i]!.b));
  }

  /** Has all that is shown fill the picture, at once. */
  #place(): void {
    this.#placing = true;
    this.#sigma.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
    const whole = this.#frame();
    if (whole) this.#sigma.getCamera().setState(whole);
    this.#placing = false;
  }

  /**
   * With many lines a frame takes too long where there is no graphics card. While
   * the camera moves, the picture of the last frame's lines is moved along, which
   * costs nothing; nodes are drawn as ever, unless that is seen to take too long as
   * well. When the camera rests, everything is drawn, and the picture taken. That
   * waits for the drawing, so after another change than the camera's it is taken when
   * nothing has changed for a while, or when it is needed.
   */
  #pictureLines(): void {
    const sigma = this.#sigma;
    const canvases = sigma.getCanvases();
    const [lines, dots] = [canvases["edges"]!, canvases["nodes"]!];
    const pictures = [lines, dots].map((of, i) => {
      const picture = sigma.createCanvas(`picture-${i}`, { beforeLayer: "edges", style: { pointerEvents: "none", transformOrigin: "0 0", display: "none" } });
      return { of, picture, context: picture.getContext("2d")! };
    });
    /** In the task that has drawn: a WebGL canvas has its content until the task's end. */
    const take = (): void => {
      clearTimeout(taking);
      for (const { of, picture, context } of pictures) {
        if (picture.width !== of.width || picture.height !== of.height) {
          picture.width = of.width;
          picture.height = of.height;
        }
        picture.style.width = of.style.width;
        picture.style.height = of.style.height;
        context.clearRect(0, 0, picture.width, picture.height);
        context.drawImage(of, 0, 0);
      }
      this.#pictured = { ...sigma.framedGraphToViewport({ x: 0.5, y: 0.5 }), ratio: sigma.getCamera().ratio };
    };
    const drawAndTake = (): void => {
      this.#moving = false;
      sigma.refresh({ partialGraph: {}, skipIndexation: true });
      take();
    };
    let taking: ReturnType<typeof setTimeout> | undefined;
    let cameToRest = false;
    /** When the last frame was drawn while moving, and how far apart such frames are on average. */
    let before: number | undefined;
    let apart = 0;
    const mouse = sigma.getMouseCaptor();
    // Reading back which node is under the mouse stalls the drawing. While it drags, this stands between the two.
    const shield = sigma.createLayer<HTMLDivElement>("shield", "div", { style: { inset: "0", display: "none", cursor: "grabbing" } });
    const rest = (): void => {
      if (mouse.isMouseDown) {
        this.#timer = setTimeout(rest, settled); // held still, and going on
        return;
      }
      this.#moving = false;
      before = undefined;
      shield.style.display = "none";
      cameToRest = true;
      sigma.scheduleRender();
    };
    sigma.getCamera().on("updated", () => {
      if (this.#placing || this.#graph.lines.length <= many) return;
      if (!this.#pictured) drawAndTake();
      this.#moving = true;
      if (mouse.isMouseDown) shield.style.display = "block";
      clearTimeout(this.#timer);
      this.#timer = setTimeout(rest, settled);
    });
    sigma.on("afterRender", () => {
      if (this.#moving && this.#pictured) {
        const { x, y } = sigma.framedGraphToViewport({ x: 0.5, y: 0.5 });
        const scale = this.#pictured.ratio / sigma.getCamera().ratio;
        const transform = `matrix(${scale}, 0, 0, ${scale}, ${x - this.#pictured.x * scale}, ${y - this.#pictured.y * scale})`;
        for (const { of, picture } of this.#slow ? pictures : pictures.slice(0, 1)) {
          picture.style.transform = transform;
          picture.style.display = "block";
          of.style.visibility = "hidden";
        }
        const now = performance.now();
        if (before !== undefined && now - before < settled) apart += (now - before - apart) / 8;
        before = now;
        if (apart > slowFrame) this.#slow = true;
        return;
      }
      for (const { of, picture } of pictures) {
        picture.style.display = "none";
        of.style.visibility = "visible";
      }
      this.#pictured = undefined;
      clearTimeout(taking);
      if (this.#graph.lines.length > many) {
        if (cameToRest) take();
        else taking = setTimeout(drawAndTake, resting);
      }
      cameToRest = false;
    });
    sigma.on("kill", () => clearTimeout(taking));
  }

  #node(i: number, data: { [name: string]: unknown }): { [name: string]: unknown } {
    if (!this.#look) return data;
    const { shown, colours, chosen, near, path } = this.#look;
    if (!shown.nodes[i]) return { ...data, hidden: true };
    const marked = path ? path.nodes.includes(i) : chosen === undefined || near.has(i);
    const important = i === chosen || (path?.nodes.includes(i) ?? false);
    return {
      ...data,
      color: marked ? colours[i]! : this.#ink.faded,
      label: marked ? data["label"] : "",
      forceLabel: important,
      highlighted: i === chosen,
      zIndex: important ? 2 : marked ? 1 : 0,
    };
  }

  #line(i: number, data: { [name: string]: unknown }): { [name: string]: unknown } {
    if (!this.#look) return data;
    const { shown, chosen, path } = this.#look;
    if (!shown.lines[i]) return { ...data, hidden: true };
    const line = this.#graph.lines[i]!;
    const marked = path ? path.lines.includes(i) : line.a === chosen || line.b === chosen;
    return { ...data, color: marked ? this.#ink.strongEdge : chosen === undefined && !path ? this.#ink.edge : this.#ink.faded, zIndex: marked ? 1 : 0 };
  }

  look(look: Look): void {
    if (look === this.#look) return;
    if (look.dark !== this.#look?.dark) {
      this.#ink = inks(look.dark);
      this.#sigma.setSetting("labelColor", { color: this.#ink.text });
    }
    this.#look = look;
    this.#sigma.refresh({ schedule: true });
  }

  move(positions: Float32Array): void {
    if (positions === this.#positions) return;
    this.#positions = positions;
    this.#put(this.#sigma.getGraph() as MultiDirectedGraph);
  }

  #put(model: MultiDirectedGraph): void {
    const positions = this.#positions;
    let i = 0;
    model.updateEachNodeAttributes(
      (_, attributes) => {
        attributes["x"] = positions[i * 2]!;
        attributes["y"] = positions[i * 2 + 1]!;
        i++;
        return attributes;
      },
      { attributes: ["x", "y"] },
    );
  }

  /** Goes to a node, near enough to read what is around it. */
  centre(i: number): void {
    const at = this.#sigma.getNodeDisplayData(String(i));
    if (!at) return;
    const ratio = Math.min(this.#sigma.getCamera().ratio, 0.35);
    this.#animate({ x: at.x, y: at.y, ratio });
  }

  /** Goes to where all that is shown is seen. */
  fit(): void {
    this.#sigma.refresh(); // or it would fit to where nodes were before their last move
    const whole = this.#frame();
    if (whole) this.#animate(whole);
  }

  #frame(): { x: number; y: number; ratio: number } | undefined {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    const shown = this.#look?.shown;
    if (!shown) return undefined;
    this.#graph.nodes.forEach((_, i) => {
      const at = shown.nodes[i] ? this.#sigma.getNodeDisplayData(String(i)) : undefined;
      if (!at) return;
      [x0, x1, y0, y1] = [Math.min(x0, at.x), Math.max(x1, at.x), Math.min(y0, at.y), Math.max(y1, at.y)];
    });
    if (x0 > x1) return undefined;
    // How much of the picture they take now says how much nearer or further the camera has to be.
    const [from, to] = [this.#sigma.framedGraphToViewport({ x: x0, y: y0 }), this.#sigma.framedGraphToViewport({ x: x1, y: y1 })];
    const { width, height } = this.#sigma.getDimensions();
    const room = (side: number): number => Math.max(side - 2 * margin, side / 2, 1);
    const share = Math.max(Math.abs(to.x - from.x) / room(width), Math.abs(to.y - from.y) / room(height));
    return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, ratio: Math.max(0.08, Math.min(4, this.#sigma.getCamera().ratio * share)) };
  }

  zoom(factor: number): void {
    this.#animate({ ratio: Math.min(4, Math.max(0.01, this.#sigma.getCamera().ratio * factor)) });
  }

  /** Moves by shares of what is seen. */
  pan(x: number, y: number): void {
    const camera = this.#sigma.getCamera();
    this.#animate({ x: camera.x + x * camera.ratio, y: camera.y + y * camera.ratio });
  }

  #animate(to: { x?: number; y?: number; ratio?: number }): void {
    if (this.#still) this.#sigma.getCamera().setState(to);
    else void this.#sigma.getCamera().animate(to, { duration: 250 });
  }

  kill(): void {
    this.#turn++;
    clearTimeout(this.#unhide);
    clearTimeout(this.#timer);
    this.#sigma.kill();
  }
}
