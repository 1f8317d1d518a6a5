import type { Route } from '../../functions/http/route.ts';
import { type Ref, SCHEMAS, type Schema } from './openapi.ts';
import { isPaged } from './problems.ts';
import { schemaName, schemaRef } from './rendering.ts';

type Answering = Pick<Route, 'query' | 'success'>;

const NEXT_CURSOR = {
  type: ['string', 'null'],
  description: 'The `cursor` of the next page; null on the last page.',
};

const FOLLOW_CURSOR = {
  type: ['string', 'null'],
  description: 'The `cursor` that continues with later items; null when there can be none.',
};

/** The envelope of `Webhook` is `WebhookResponse`, that of a page of them `WebhookPage`. */
const envelopeName = (route: Answering): string =>
  `${schemaName(route.success.data)}${isPaged(route) ? 'Page' : 'Response'}`;

/** Refers to the envelope of a route's success, which routes with the same answer share. */
export const envelopeRef = (route: Answering): Ref => ({ $ref: `${SCHEMAS}${envelopeName(route)}` });

/** The success envelopes of routes by their names (docs/specification.md, Response envelope). */
export const envelopeSchemas = (routes: readonly Answering[]): Record<string, Schema> =>
  Object.fromEntries(
    routes
      .filter(({ success }) => success.status !== 204)
      .map((route) => [envelopeName(route), envelope(route)]),
  );

function envelope(route: Answering): Schema {
  const cursors = {
    ...(isPaged(route) ? { nextCursor: NEXT_CURSOR } : {}),
    ...(route.success.followed ? { followCursor: FOLLOW_CURSOR } : {}),
  };
  return {
    type: 'object',
    properties: {
      success: { type: 'boolean', description: 'Always `true`.' },
      data: schemaRef(route.success.data),
      ...cursors,
    },
    required: ['success', 'data', ...Object.keys(cursors)],
  };
}
