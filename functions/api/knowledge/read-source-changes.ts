import { notFound } from '../../domain/problem.ts';
import { getComparedVersions, listChangesSince } from '../../domain/source-check.ts';
import { success } from '../../platform/reply.ts';
import { sourceVersions } from '../../store/source-checks.ts';
import { routeHandler } from '../route-handler.ts';
import * as routes from './routes.ts';
import { knowledge, sources } from './sources.ts';

const versions = sourceVersions(knowledge);

/** Tries while checks replace versions. */
const MAX_LOOKS = 3;

/** A version without text was replaced since the source was read; the next try finds the new one. */
export const handler = routeHandler(routes.readSourceChanges, async ({ tenant, params }) => {
  for (let look = 1; ; look += 1) {
    const source = await sources.find(tenant, params.id);
    if (!source) return notFound('source of knowledge');
    const { from, to } = getComparedVersions(source);
    const [before, after] = await Promise.all(
      [from, to].map((version) => version && versions.read(source, version)),
    );
    const isThere = (from === undefined || before !== undefined) && (to === undefined || after !== undefined);
    if (isThere || look === MAX_LOOKS)
      return success(listChangesSince(source.id, { from, before }, { to, after }));
  }
});
