export { OrgmemStore, TooMuchChange } from "./store.js";
export type { OrgmemStoreOptions } from "./store.js";
export { ItemDamaged, ValueRefused } from "./layout.js";
