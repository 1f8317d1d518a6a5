import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { listComparedVersions, listSourceChanges } from '../../knowledge/difference.ts';
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
export const handler = routeHandler(routes.readSourceChanges, async ({ tenant, params }) => {
  for (let attempt = 1; ; attempt += 1) {
    const source = await sources.find(tenant, params.id);
    if (!source) return refusals.notFound('content source');
    const compared = listComparedVersions(source);
    const texts = await Promise.all(compared.map((version) => versions.read(source, version)));
    if (texts.every((text) => text !== undefined) || attempt === MAX_ATTEMPTS)
      return success(listSourceChanges(source, (version) => texts[compared.indexOf(version)]));
  }
});
