/** A URL that deliveries may go to, and what is unusual about it. */
export type PublicUrl = readonly [url: string, what: string];
