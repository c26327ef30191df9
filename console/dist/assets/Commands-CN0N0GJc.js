import{$ as e,At as t,Et as n,Ft as r,N as i,Ot as a,Q as o,bt as s,ct as c,jt as l,mt as u,tt as d,vt as f,wt as p,xt as m}from"./Problem-DScFYkpy.js";import{t as h}from"./Copy-D6C4ggFS.js";import{t as g}from"./Tabs-3hkU7NVO.js";var _=e=>`'${e.replaceAll(`'`,`'\\''`)}'`,v=e=>e.replace(/[A-Z]/g,e=>`_`+e.toLowerCase()),y=e=>(e.charAt(0).toUpperCase()+e.slice(1)).replace(/Id$/,`ID`),b=e=>typeof e==`object`&&!!e&&!Array.isArray(e),x=e=>typeof e==`string`&&/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(e),S=e=>JSON.stringify(e).replace(/[\u007f-\uffff]/g,e=>/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(e)?`\\u`+e.charCodeAt(0).toString(16).padStart(4,`0`):e),C=(e,t,n=S)=>Object.entries(e).map(([e,r])=>`${n(e)}: ${t(r,e)}`).join(`, `);function w(e){return Array.isArray(e)?`[${e.map(w).join(`, `)}]`:b(e)?`{ ${C(e,w,e=>e===`__proto__`?`[${S(e)}]`:/^[a-z]\w*$/i.test(e)?e:S(e))} }`:S(e)}function T(e){return e===!0?`True`:e===!1?`False`:e==null?`None`:Array.isArray(e)?`[${e.map(T).join(`, `)}]`:b(e)?`{${C(e,T)}}`:S(e)}function E(e){let t=new Date(e);return`time.Date(${[t.getUTCFullYear(),t.getUTCMonth()+1,t.getUTCDate(),t.getUTCHours(),t.getUTCMinutes(),t.getUTCSeconds(),t.getUTCMilliseconds()*1e6].join(`, `)}, time.UTC)`}function D(e,t){return x(e)?E(e):Array.isArray(e)?`[]string{${e.map(e=>D(e,t)).join(`, `)}}`:b(e)?t===`metadata`?`map[string]any{${C(e,S)}}`:`orgmem.Search${y(t)}{${O(e)}}`:S(e)}var O=e=>C(e,D,y);function k(e,t,n){return`package main

import (
${[`context`,`encoding/json`,`log`,`os`,...n.includes(`time.Date(`)?[`time`]:[]].map(e=>`\t"${e}"`).join(`
`)}

\torgmem "orgmem/sdk/go"
)

func main() {
\tmemory, err := orgmem.New(orgmem.Config{${e}}) // the key is in ORGMEM_API_KEY
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tanswer, err := ${t}.${n}
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tout := json.NewEncoder(os.Stdout)
\tout.SetIndent("", "  ")
\tif err := out.Encode(answer); err != nil {
\t\tlog.Fatal(err)
\t}
}
`}function A(e,t){let{method:n,path:r,body:i,subject:a,verb:o,argument:s,options:c={}}=e,l=Object.fromEntries(Object.entries(c).filter(([,e])=>e!==void 0&&e!==``&&!(b(e)&&Object.keys(e).length===0))),u=Object.keys(l).length>0,d=[`curl ${n===`GET`?``:`-X ${n} `}${_(t+r)}`,`-H "X-Svc-API-Key: $ORGMEM_API_KEY"`,...a?[`-H ${_(`X-Svc-Subject: `+encodeURIComponent(a))}`]:[],...i===void 0?[]:[`-H 'Content-Type: application/json'`,`-d ${_(S(i))}`]].join(` \\
  `),{protocol:f,hostname:p}=new URL(t),m=f===`http:`&&!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(p),[h,g]=[S(t),S(s)],x=a?S(a):``,C=o.split(`.`),E=o===`brain.query`?`BrainQuery`:`${y(C.at(-1))}Request`,D=n===`GET`&&!u?g:`orgmem.${E}{Query: ${g}${u?`, `+O(l):``}}`;return[{name:`curl`,text:d},{name:`TypeScript`,text:`import { Orgmem } from "orgmem"; // the key is in ORGMEM_API_KEY

const memory = new Orgmem({ baseUrl: ${h}${m?`, allowInsecure: true`:``} })${x&&`.subject(${x})`};
const answer = await memory.${o}(${g}${u?`, ${w(l)}`:``});
console.log(JSON.stringify(answer, null, 2));
`},{name:`Python`,text:`from orgmem import Orgmem  # the key is in ORGMEM_API_KEY

memory = Orgmem(base_url=${h}${m?`, allow_insecure=True`:``})${x&&`.subject(${x})`}
answer = memory.${C.map(v).join(`.`)}(${g}${Object.entries(l).map(([e,t])=>`, ${v(e)}=${T(t)}`).join(``)})
print(answer.model_dump_json(by_alias=True, indent=2))
`},{name:`Go`,text:k(`BaseURL: ${h}${m?`, AllowInsecure: true`:``}`,`memory${x&&`.Subject(${x})`}`,`${C.map(y).join(`.`)}(context.Background(), ${D})`)}]}var j=d(`<div class="stack tight"><div class="row apart"><!> <!></div> <pre tabindex="0" class="svelte-4d3ppw"> </pre></div>`);function M(d,_){l(_,!0);let v=a(()=>A(_.call,location.origin)),y=n(`curl`),b=a(()=>c(v).find(e=>e.name===c(y))??c(v)[0]);var x=j(),S=f(x),C=f(S);{let e=a(()=>c(v).map(e=>({id:e.name,title:e.name})));g(C,{label:`Language`,get tabs(){return c(e)},get chosen(){return c(y)},set chosen(e){p(y,e,!0)}})}var w=m(C,2);h(w,{get text(){return c(b).text}}),r(S);var T=m(S,2),E=s(T,!0);r(x),u(()=>{i(T,`aria-label`,`The same request in ${c(b).name}`),o(E,c(b).text)}),e(d,x),t()}export{M as t};