/** The last decision that was sent: lists of what was decided wait for it. */
export const sent: { last: Promise<unknown> } = { last: Promise.resolve() };
