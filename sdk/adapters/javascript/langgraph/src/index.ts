export { OrgmemStore } from "./store.js";
export type { OrgmemStoreOptions } from "./store.js";
export { ItemDamaged, TooMuchChange, ValueRefused } from "./records.js";
