import type { Route } from '../http/route.ts';
import * as channels from './channels/routes.ts';
import * as conversations from './conversations/routes.ts';
import * as events from './events/routes.ts';
import * as knowledge from './knowledge/routes.ts';
import * as settings from './settings/routes.ts';
import * as webhooks from './webhooks/routes.ts';

const exported = { ...webhooks, ...events, ...conversations, ...channels, ...knowledge, ...settings };
type Exported = typeof exported;

/**
 * Routes of the public API and the organization settings: the source of functions, gateway methods, OpenAPI
 * document, parsing, access and response shape. Each is an export of its resource's file, beside its schemas,
 * so that a bundle contains one route's schemas only.
 */
export const routes = Object.fromEntries(
  Object.entries(exported).filter(([, value]) => 'method' in value),
) as { readonly [Key in keyof Exported as Exported[Key] extends Route ? Key : never]: Exported[Key] };

export type RouteKey = keyof typeof routes;
