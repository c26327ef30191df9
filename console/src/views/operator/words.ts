import type { Plan, Role } from "./client";

/** What a plan allows. */
export const planWords: Record<Plan, string> = {
  free: "Free: half the usual rates",
  standard: "Standard: the usual rates",
  scale: "Scale: ten times the rates",
  unlimited: "Unlimited: no limits",
};

/** What a role may. */
export const roleWords: Record<Role, string> = { owner: "Owner", admin: "Admin", member: "Member" };
