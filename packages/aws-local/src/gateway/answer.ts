export interface Answer {
  statusCode: number;
  /** A list becomes one line per value. */
  headers: Record<string, string | string[]>;
  body: string | Buffer;
}
