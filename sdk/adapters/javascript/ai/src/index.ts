export { memoryMiddleware } from "./middleware.js";
export type { MemoryMiddlewareOptions } from "./middleware.js";
export { memoryTools } from "./tools.js";
export type { Found, MemoryTools, MemoryToolsOptions, Remembered } from "./tools.js";
export type { Memory } from "./quote.js";
