/** A URL that deliveries may go to, and its peculiarity. */
export type PublicUrl = readonly [url: string, what: string];
