import { routes } from '../../functions/api/routes.ts';
import { computeTokens } from '../../functions/http/rate-limit.ts';
import type { Route } from '../../functions/http/route.ts';
import { OPERATIONS } from './operations.ts';

const HEAD = `# Routes

Written by \`npm run generate -- openapi\` from the route table (\`functions/api/*/routes.ts\`) and its texts (\`lib/openapi/texts\`).
The units and tokens that a request consumes at most are explained in [Service
limits](limits.md#what-a-request-costs-at-most). Where a session is accepted in place of an API key, the path is
\`/api/settings/…\` in place of \`/api/v1/…\`, and \`?environment=sandbox\` selects the sandbox.`;

const COLUMNS = ['Route', 'Does', 'Access', '`Idempotency-Key`', 'Read units', 'Write units', 'Tokens'];

/** The list of all routes for readers of the repository: Markdown, by tag, in the order of the document. */
export function routesPage(): string {
  const keys = Object.keys(OPERATIONS) as (keyof typeof routes)[];
  const sections = [...Map.groupBy(keys, (key) => OPERATIONS[key].tag)].map(([tag, ofTag]) =>
    [`## ${tag}`, '', row(COLUMNS), row(COLUMNS.map(() => '---')), ...ofTag.map(rowOf)].join('\n'),
  );
  return `${[HEAD, ...sections].join('\n\n')}\n`;
}

function rowOf(key: keyof typeof routes): string {
  const route: Route = routes[key];
  const { summary, atMost } = OPERATIONS[key];
  const { reads, writes } = atMost;
  return row([
    `\`${route.method} /api${route.path}\``,
    summary,
    accessOf(route),
    route.idempotency ?? '',
    ...[reads, writes, computeTokens({ reads, writes })].map((figure) => figure.toLocaleString('en')),
  ]);
}

function accessOf({ scope, dashboard, role, visitor }: Route): string {
  if (visitor) return 'visitor token';
  const session = role ?? dashboard;
  return [scope && `\`${scope}\``, session && `session: ${session}`].filter(Boolean).join(', ');
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
