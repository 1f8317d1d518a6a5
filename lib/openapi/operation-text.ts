import type * as z from 'zod/mini';
import type { Schema } from './openapi.ts';

/** A group of operations. */
export type Tag =
  | 'Webhooks'
  | 'Deliveries'
  | 'Events'
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
  readonly summary: string;
  /** Tokens of the rate limit that a request costs at most; 1 by default. A test makes the largest one. */
  readonly mostTokens?: number;
  /** What it does, what happens at limits, what to do on errors. Markdown. */
  readonly description: string;
  /** What the answer to a success is. */
  readonly answer: string;
  /** What the answer is when nothing changes; given exactly when the route has a status for it. */
  readonly unchanged?: string;
  /** An example of the request's body; given exactly when the route takes one. */
  readonly body?: object;
  /** An example of the answer's `data`; given unless the answer is a 204. */
  readonly data?: unknown;
  /** The example's `followCursor`, if it has one. */
  readonly followCursor?: string;
  /** The same for a call with a sandbox key, where it shows what live answers never have. */
  readonly sandbox?: unknown;
  /** Path of what was created: the example of the `Location` header; given when the answer has one. */
  readonly location?: string;
}

/** A named schema and what the document says of it. Functions do not carry these texts. */
export interface Described {
  readonly schema: z.ZodMiniType;
  readonly fields: Readonly<Record<string, string>>;
  /** Constraints that use cases and refinements apply, which a schema cannot be asked for. */
  readonly constraints?: Readonly<Record<string, Schema>>;
  readonly variants?: Variants;
}

/** A schema as a choice between schemas of their own, by the value of a property. */
export interface Variants {
  readonly property: string;
  readonly of: Readonly<Record<string, Variant>>;
}

export interface Variant {
  /** Of the schema. */
  readonly name: string;
  /** Fields that are null in other variants only. */
  readonly present?: readonly string[];
  /** Optional fields of the whole that this variant has always, and those that it never has. */
  readonly required?: readonly string[];
  readonly without?: readonly string[];
}

/**
 * Describes a schema. The type asks for a text for every field, so that a new one without a text does not
 * compile.
 */
export const described = <S extends z.ZodMiniType>(
  schema: S,
  fields: Record<keyof z.output<S>, string>,
  constraints: Readonly<Record<string, Schema>> = {},
  variants?: Variants,
): Described => ({ schema, fields, constraints, ...(variants === undefined ? {} : { variants }) });

export const CREATED = 'Creation time, UTC.';

const METADATA = 'Your own texts by name, of at most 20 entries.';
export const METADATA_SHOWN = 'Your own texts by name; empty if there are none.';
export const METADATA_GIVEN = `${METADATA} Not in events, and not shown to visitors.`;
export const METADATA_CHANGED = `${METADATA} Replaces all entries; omit to keep them.`;
