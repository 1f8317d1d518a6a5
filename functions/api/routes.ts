import type { Route } from '../platform/route.ts';
import { routes as conversations } from './conversations/routes.ts';
import { routes as settings } from './settings/routes.ts';
import { routes as tickets } from './tickets/routes.ts';
import { routes as webhooks } from './webhooks/routes.ts';

/**
 * The route table: the public API and the organization settings, one line of facts for each thing that may differ between routes.
 * The stack makes a function and a gateway method of every entry, the OpenAPI document describes it, and each handler takes its
 * parsing, its access and its answer's shape from here; a handler reads the part of its own resource, to load no other's.
 */
export const routes = { ...webhooks, ...conversations, ...tickets, ...settings } as const satisfies Record<
  string,
  Route
>;

export type RouteKey = keyof typeof routes;
