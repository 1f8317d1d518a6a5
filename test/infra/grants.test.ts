import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { entryPoints } from '../../lib/infra/bundle.ts';
import access from '../../lib/infra/grants/access.json' with { type: 'json' };
import { deriveAll } from '../../lib/infra/grants/functions.ts';
import { type Access, FROM_EVENT } from '../../lib/infra/grants/resource.ts';
import { parseFile } from '../../lib/infra/grants/syntax.ts';
import { STAGES } from './contexts.ts';
import { all, type Found, references } from './reading.ts';
import { invokes, ofType, type SynthesizedResource, statementsOf, synthesize } from './synthesize.ts';

/*
 * The role of each function allows exactly what its code may do. The code is analysed again here; the
 * constructs grant what access.json lists.
 */
const entries = entryPoints();
const derived = deriveAll(undefined, entries);

/** As `dynamodb:Query Tables…/index/due`. */
const named = (actions: readonly string[], resources: readonly string[]): string[] =>
  actions.flatMap((action) => resources.map((resource) => `${action} ${resource}`));

/** The resource of a statement by its logical id, or as written where it has none. */
function resourceOf(resource: unknown): string {
  const said = JSON.stringify(resource);
  const [, part = ''] =
    /"(\/index\/[a-z-]+)"/.exec(said) ?? (said.includes('"StreamArn"') ? [said, '/stream'] : []);
  const [, identity] = /:((?:identity|configuration-set)\/[^"]+)"/.exec(said) ?? [];
  const [id] = references(resource).filter((name) => !name.startsWith('AWS::'));
  return identity ?? (id === undefined ? String(resource) : `${id}${part}`);
}

const LOGGING = ['logs:CreateLogStream', 'logs:PutLogEvents'];

/** The permissions of a function's role, except its log. */
const allowedBy = (template: Template, fn: SynthesizedResource): Set<string> =>
  new Set(
    statementsOf(template, fn).flatMap(({ Action, Resource }) =>
      named(
        [Action].flat().filter((action) => !LOGGING.includes(action)),
        [Resource].flat().map(resourceOf),
      ),
    ),
  );

/** The permissions that Lambda's poller needs (Lambda Developer Guide, execution role permissions). */
function neededByMapping([, { Properties }]: Found): string[] {
  const [source = ''] = references(Properties.EventSourceArn);
  if (!JSON.stringify(Properties.EventSourceArn).includes('"StreamArn"'))
    return named(['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'], [source]);
  return [
    ...named(
      ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
      [`${source}/stream`],
    ),
    'dynamodb:ListStreams *',
    ...named(['sqs:SendMessage'], references(Properties.DestinationConfig)),
  ];
}

/** The resources of the function's environment that its code uses, and its event sources. */
function neededBy(template: Template, [id, fn]: Found, used: Access): Set<string> {
  const { Variables } = Object(fn.Properties.Environment);
  const byCode = Object.entries(used).flatMap(([resource, actions]) => {
    const [variable = '', ...part] = resource.split('/');
    if (variable === FROM_EVENT) return named(actions, [`${references(Variables.OUTBOX_TABLE)[0]}/stream`]);
    if (variable === 'MAIL_FROM') {
      const from = String(Variables.MAIL_FROM);
      const [, sub = '', above = ''] = /@([^.]+\.)(.+)$/.exec(from) ?? [];
      const identities = [from, `${sub}${above}`, above].map((identity) => `identity/${identity}`);
      return named(actions, [...identities, 'configuration-set/*']);
    }
    return named(actions, [[references(Variables[variable])[0], ...part].join('/')]);
  });
  const mappings = ofType(template, 'AWS::Lambda::EventSourceMapping').filter(([, { Properties }]) =>
    invokes(template, Properties.FunctionName, id),
  );
  return new Set([...byCode, ...mappings.flatMap(neededByMapping)]);
}

const nameOf = ({ Properties }: SynthesizedResource): string =>
  Object(Properties.Environment).Variables.FUNCTION_NAME;

/** Functions of the service, without those that the CDK adds. */
const functionsIn = (template: Template): Found[] =>
  all(template, 'AWS::Lambda::Function').filter(([, fn]) => Object.hasOwn(entries, nameOf(fn) ?? ''));

/** The functions whose roles and code differ: `name lacks …`, `name need not …`. */
const differences = (template: Template, code: Readonly<Record<string, Access>>): string[] =>
  functionsIn(template).flatMap((faults) => {
    const name = nameOf(faults[1]);
    const allowed = allowedBy(template, faults[1]);
    const needed = neededBy(template, faults, code[name] ?? {});
    return [
      ...[...needed].filter((one) => !allowed.has(one)).map((one) => `${name} lacks ${one}`),
      ...[...allowed].filter((one) => !needed.has(one)).map((one) => `${name} need not ${one}`),
    ];
  });

it('access.json matches the code; otherwise `npm run generate -- grants` writes it', () => {
  expect(access).toEqual(derived);
});

describe.each(STAGES)('in stage %s', (stage) => {
  const template = synthesize({ stage });

  it('every function exists', () => {
    expect(
      functionsIn(template)
        .map(([, fn]) => nameOf(fn))
        .sort(),
    ).toEqual(Object.keys(derived).sort());
  });

  it('each role allows exactly what its code may do', () => {
    expect(differences(template, derived)).toEqual([]);
  });
});

describe('the comparison', () => {
  const template = synthesize();

  /** The derived permissions when each match of a pattern in a file is replaced. */
  function deriveWith(
    file: string,
    pattern: RegExp,
    other: string | ((found: string) => string),
    ...names: (keyof typeof access)[]
  ) {
    const path = join(import.meta.dirname, '../..', file);
    const source = readFileSync(path, 'utf8');
    expect(source).toMatch(pattern);
    const replace = typeof other === 'string' ? () => other : other;
    const changed = deriveAll(
      (read) => (read === path ? parseFile(read, source.replaceAll(pattern, replace)) : parseFile(read)),
      Object.fromEntries(names.map((name) => [name, entries[name]])),
    );
    return { ...derived, ...changed };
  }

  it('finds an action of an untested branch, for each function that can reach it', () => {
    const code = deriveWith(
      'functions/tenancy/organizations.ts',
      /\btype Table(?= \} from '..\/aws)|return row && OrganizationState.parse\(row\);/gm,
      (faults) =>
        faults === 'type Table'
          ? `${faults}, update`
          : `if (row?.gone) await update(service, keys.organization(id), { update: EXISTS });
             ${faults}`,
      'meter',
      'fan-out',
      'dispatch',
    );
    expect(differences(template, code).map((found) => found.replace(/Tables([A-Z][a-z]+)\w+/, '$1'))).toEqual(
      ['fan-out lacks dynamodb:UpdateItem Service', 'meter lacks dynamodb:UpdateItem Service'],
    );
  });

  it('finds the reads that follow a batch read with missing rows', () => {
    const code = deriveWith(
      'functions/delivery/dispatch.ts',
      /\bget\b(?=, getBatch|\(table)/g,
      'remove',
      'dispatch',
    );
    const faults = differences(template, code).map((one) => one.replace(/Tables([A-Z][a-z]+)\w+/, '$1'));
    expect(faults.sort()).toEqual([
      'dispatch lacks dynamodb:DeleteItem Outbox',
      'dispatch lacks dynamodb:DeleteItem Service',
      'dispatch need not dynamodb:GetItem Outbox',
    ]);
  });

  it('finds a grant that no code needs', () => {
    const { meter, ...others } = derived;
    const { USAGE_TABLE: _, ...rest } = meter ?? {};
    expect(differences(template, { ...others, meter: rest })).toEqual([
      expect.stringMatching(/^meter need not dynamodb:BatchGetItem TablesUsage/),
      expect.stringMatching(/^meter need not dynamodb:PutItem TablesUsage/),
      expect.stringMatching(/^meter need not dynamodb:UpdateItem TablesUsage/),
    ]);
  });
});
