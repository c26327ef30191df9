// Parts of the library that it has no types for; its version is pinned.
declare module "graphology-layout-forceatlas2/iterate.js" {
  /** One iteration: moves what is in the matrix of nodes. */
  const iterate: (settings: Record<string, unknown>, nodes: Float32Array, edges: Float32Array) => unknown;
  export default iterate;
}
declare module "graphology-layout-forceatlas2/defaults.js" {
  const defaults: Record<string, unknown>;
  export default defaults;
}
