/** A group of operations. */
export type Tag =
  | 'Webhooks'
  | 'Deliveries'
  | 'Conversations'
  | 'Channels'
  | 'Tickets'
  | 'Knowledge'
  | 'Organization'
  | 'API keys'
  | 'Sandbox';

/** What the document says of an operation beyond the facts of its route. */
export interface OperationText {
  readonly tag: Tag;
  /** What it does, what happens at limits, what to do on errors. Markdown. */
  readonly description: string;
  /** What the answer to a success is. */
  readonly answer: string;
  /** An example of the request's body; given exactly when the route takes one. */
  readonly body?: object;
  /** An example of the answer's `data`; given unless the answer is a 204. */
  readonly data?: unknown;
  /** The same for a call with a sandbox key, where it shows what live answers never have. */
  readonly sandbox?: unknown;
  /** Path of what was created: the example of the `Location` header; given when the answer has one. */
  readonly location?: string;
}
