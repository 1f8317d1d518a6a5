import type { Route } from '../http/route.ts';
import * as channels from './channels/routes.ts';
import * as conversations from './conversations/routes.ts';
import * as events from './events/routes.ts';
import * as knowledge from './knowledge/routes.ts';
import * as redeliveries from './redeliveries/routes.ts';
import * as settings from './settings/routes.ts';
import * as tickets from './tickets/routes.ts';
import * as webhooks from './webhooks/routes.ts';
import * as widget from './widget/routes.ts';

/**
 * Routes of the public API and the organization settings: the source of functions, gateway methods, OpenAPI
 * document, parsing, access and response shape. Each route is a separate export of its resource's file, so
 * that a bundle contains only its route's schemas.
 */
export const routes = {
  ...webhooks,
  ...redeliveries,
  ...events,
  ...conversations,
  ...channels,
  ...widget,
  ...tickets,
  ...knowledge,
  ...settings,
} as const satisfies Record<string, Route>;

export type RouteKey = keyof typeof routes;
