import { among, commandLine, repeatable } from 'terminal/command-line.ts';
import { ENGINES, type EngineName, VERSIONS } from './names.ts';

/** The engines to test; all without `--only`. Ends the process for `--help`, and for invalid arguments. */
export function readEngines(args: readonly string[]): readonly EngineName[] {
  const { only = ENGINES } = commandLine(
    'npm run test:engines --',
    'Runs the contract suites and a whole local run on other engines than the embedded ones.',
  )
    .option('--only <engine>', `${ENGINES.join(', ')}; may be repeated (all)`, repeatable(among(ENGINES)))
    .addHelpText(
      'after',
      `
DynamoDB Local ${VERSIONS['dynamodb-local']} and ElasticMQ ${VERSIONS.elasticmq} are downloaded with mvn and need java; dynoxide ${VERSIONS.dynoxide} is built with
cargo. What was downloaded stays in .engines. An engine whose tools this machine lacks is skipped.

Each check that is known to fail is a line of the table in docs/reference/engines.md. Exits with 1 when another check fails, when
one of the table does not fail, or when the local run does not deliver.`,
    )
    .parse(args, { from: 'user' })
    .opts();
  return ENGINES.filter((name) => only.includes(name));
}
