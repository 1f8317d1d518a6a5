export { type Client, type ClientOptions, createClient } from './client.ts';
export * from './errors.ts';
export type { BodyOf, CallOptions, DataOf, ItemOf, Operation } from './operations.ts';
export { type Batch, type FollowOptions, type Page, Pages } from './pages.ts';
export type { Result, WithResponse } from './result.ts';
export type { components } from './schema.gen.ts';
export type { DeprecationNotice, WriteOptions } from './transport.ts';
export { VERSION } from './user-agent.ts';
