/** A host or a URL that no delivery may go to, and the reason. */
export type Forbidden = readonly [text: string, why: string];
