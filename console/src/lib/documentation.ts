/** Whether the interface that a page comes from has /docs: the operator's has not. */
export const documentation = { here: true };
