/** A response of the gateway, ready to be sent. */
export interface Answer {
  statusCode: number;
  /** Names as they go out; a list makes one line for each value. */
  headers: Record<string, string | string[]>;
  body: string | Buffer;
}
