import type { Route } from '../platform/route.ts';
import * as channels from './channels/routes.ts';
import * as conversations from './conversations/routes.ts';
import * as knowledge from './knowledge/routes.ts';
import * as redeliveries from './redeliveries/routes.ts';
import * as settings from './settings/routes.ts';
import * as tickets from './tickets/routes.ts';
import * as webhooks from './webhooks/routes.ts';
import * as widget from './widget/routes.ts';

/**
 * The route table: the public API and the organization settings, one line of facts for each thing that may
 * differ between routes. The stack makes a function and a gateway method of every entry, the OpenAPI document
 * describes it, and each handler takes its parsing, its access and its answer's shape from here. Each route
 * is an export of its resource's file, so that a handler's bundle has the schemas of its own route alone.
 */
export const routes = {
  ...webhooks,
  ...redeliveries,
  ...conversations,
  ...channels,
  ...widget,
  ...tickets,
  ...knowledge,
  ...settings,
} as const satisfies Record<string, Route>;

export type RouteKey = keyof typeof routes;
