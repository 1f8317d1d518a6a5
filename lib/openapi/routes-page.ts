import { routes } from '../../functions/api/routes.ts';
import type { Route } from '../../functions/http/route.ts';
import type { OperationText } from './operation-text.ts';
import { OPERATIONS } from './operations.ts';

const HEAD = `# Routes

Written by \`npm run generate -- openapi\` from the route table (\`functions/api/*/routes.ts\`) and its texts (\`lib/openapi/texts\`).
The tokens are the most that a request costs ([Service limits](limits.md#what-a-request-costs)). Where a session is accepted in place of an API key, the path is
\`/api/settings/…\` in place of \`/api/v1/…\`, and \`?environment=sandbox\` selects the sandbox.`;

const COLUMNS = ['Route', 'Does', 'Access', '`Idempotency-Key`', 'Tokens'];

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
  const { summary, mostTokens = 1 }: OperationText = OPERATIONS[key];
  return row([
    `\`${route.method} /api${route.path}\``,
    summary,
    accessOf(route),
    route.idempotency ?? '',
    String(mostTokens),
  ]);
}

function accessOf({ scope, dashboard, role, visitor }: Route): string {
  if (visitor) return 'visitor token';
  const session = role ?? dashboard;
  return [scope && `\`${scope}\``, session && `session: ${session}`].filter(Boolean).join(', ');
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
