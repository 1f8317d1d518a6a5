import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { WORKERS } from '../../lib/infra/bundle.ts';
import { OUTBOUND_CLIENTS } from '../unit/architecture/reach.ts';
import { EVERYTHING, type TestContext } from './contexts.ts';
import { nameOf, ourFunctions, statementsIn } from './reading.ts';
import { ofType, statementsOf, synthesize } from './synthesize.ts';

const template = synthesize(EVERYTHING);
const inNetwork = ourFunctions(template).filter(([, { Properties }]) => 'VpcConfig' in Properties);

/** Workers whose code makes a client for customers' hosts. */
const connecting = WORKERS.filter((name) => {
  const code = readFileSync(join(import.meta.dirname, `../../functions/workers/${name}.ts`), 'utf8');
  return OUTBOUND_CLIENTS.some((client) => code.includes(`${client}(`));
});

it('a network has exactly the functions whose code connects to the hosts of customers, with IPv6', () => {
  expect(inNetwork.map(([, fn]) => nameOf(fn)).sort()).toEqual([...connecting].sort());
  expect(connecting.length).toBeGreaterThan(1);
  for (const [id, { Properties }] of inNetwork)
    expect(Properties.VpcConfig, id).toMatchObject({ Ipv6AllowedForDualStack: true });
});

it('Lambda may make the network interfaces of a function, and its code may not', () => {
  for (const [id, fn] of inNetwork) {
    const [allow, deny] = statementsIn({ Statement: statementsOf(template, fn) }).filter(({ actions }) =>
      actions.includes('ec2:CreateNetworkInterface'),
    );
    expect([allow?.effect, deny?.effect, deny?.actions], id).toEqual(['Allow', 'Deny', allow?.actions]);
    expect(JSON.stringify(deny?.condition), id).toContain(`function:${fn.Properties.FunctionName}"`);
  }
});

it('a network tells what judges receivers that IPv6 works; without it there is none', () => {
  const variables = (name: string, context: TestContext) =>
    ourFunctions(synthesize(context))
      .filter(([, fn]) => nameOf(fn) === name)
      .map(([, { Properties }]) => Object(Properties.Environment).Variables.IPV6_RECEIVERS);
  for (const name of ['register-webhook', 'create-source', ...connecting]) {
    expect(variables(name, EVERYTHING), name).toEqual(['allow']);
    expect(variables(name, {}), name).toEqual([undefined]);
  }
  expect(ofType(synthesize(), 'AWS::EC2::VPC')).toEqual([]);
});
