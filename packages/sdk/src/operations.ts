import type { components, operations } from './schema.gen.ts';

/** An operation of the API, by its `operationId`; not the requests that receivers get. */
export type Operation = Exclude<keyof operations, `receive${string}Event`>;

/** For one call. */
export interface CallOptions {
  /** Ends the call, and its retries. */
  signal?: AbortSignal;
  /** For each try, in milliseconds. */
  timeoutMs?: number;
  /** Tries after the first one. */
  maxRetries?: number;
}

type Json<Content> = Content extends { content: { 'application/json': infer Value } } ? Value : undefined;
type Responses<O extends Operation> = operations[O]['responses'];

/** Body of a successful response; undefined for 204. */
export type ResponseOf<O extends Operation> = Json<
  Responses<O>[keyof Responses<O> & (200 | 201 | 202 | 204)]
>;
/** The resource of a successful response. */
export type DataOf<O extends Operation> = ResponseOf<O> extends { data: infer Data } ? Data : undefined;
/** An item of a list. */
export type ItemOf<O extends Operation> = DataOf<O> extends readonly (infer Item)[] ? Item : never;

export type BodyOf<O extends Operation> = Json<NonNullable<operations[O]['requestBody']>>;
export type QueryOf<O extends Operation> = NonNullable<operations[O]['parameters']['query']>;
/** Parameters that take several values, which a request separates with commas. */
interface Lists {
  type: components['schemas']['Event']['type'];
  eventType: components['schemas']['Event']['type'];
  ids: components['schemas']['Event']['id'];
  status: components['schemas']['Delivery']['status'];
}
/** What narrows a list. Its pages are read with `limit` items each. */
export type FilterOf<O extends Operation> = {
  [Name in keyof QueryOf<O> as Exclude<Name, 'cursor'>]?: Name extends keyof Lists
    ? QueryOf<O>[Name] | readonly Lists[Name][]
    : QueryOf<O>[Name];
};
