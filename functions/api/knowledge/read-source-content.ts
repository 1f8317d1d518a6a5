import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { sourceVersions } from '../../knowledge/source-checks.ts';
import { sourceStore } from '../../knowledge/sources.ts';
import { routeHandler } from '../route-handler.ts';
import { knowledge } from '../stores.ts';
import * as routes from './routes.ts';

const sources = sourceStore(knowledge);
const versions = sourceVersions(knowledge);

/** Attempts while checks replace versions. */
const MAX_ATTEMPTS = 3;

/** A version without text was replaced after the source was read; the next attempt finds the new one. */
export const handler = routeHandler(routes.readSourceContent, async ({ tenant, params }) => {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const source = await sources.find(tenant, params.id);
    if (!source) return refusals.notFound('content source');
    const { content } = source;
    const stored = source.stored.find(({ version }) => version === content?.version);
    if (content === undefined || stored === undefined) break;
    const text = await versions.read(source, stored);
    const { version, words, title, warnings = [] } = content;
    if (text !== undefined) return success({ sourceId: source.id, version, words, title, text, warnings });
  }
  return refusals.notFound('imported content yet');
});
