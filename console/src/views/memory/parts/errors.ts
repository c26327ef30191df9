import { ApiError, type FieldError } from "orgmem";

const isOf = (e: FieldError, field: string): boolean => e.field === field || e.field.startsWith(field + ".") || e.field.startsWith(field + "[");

/** What the service says is wrong with a field of a form; undefined where it says nothing of it. */
export const fieldError = (error: unknown, field: string): string | undefined =>
  error instanceof ApiError ? error.errors.find((e) => isOf(e, field))?.message : undefined;

/** Whether all that is wrong is shown at fields that the form has. */
export const onlyFields = (error: unknown, fields: readonly string[]): boolean =>
  error instanceof ApiError && error.errors.length > 0 && error.errors.every((e) => fields.some((f) => isOf(e, f)));
