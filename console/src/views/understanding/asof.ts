/**
 * The end of a day, by this browser's clock, as the interface takes times; undefined for now.
 * What is no day goes on as it is, for the service to say what is wrong with it.
 */
export function endOf(day: string): string | undefined {
  if (!day) return undefined;
  const end = new Date(`${day}T23:59:59.999`);
  return Number.isNaN(end.getTime()) ? day : end.toISOString();
}
