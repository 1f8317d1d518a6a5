import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WORKERS } from '../../lib/infra/bundle.ts';
import { OUTBOUND_CLIENTS } from '../unit/architecture/reach.ts';
import { all, type Found, nameOf, ourFunctions, references, statementsIn } from './reading.ts';
import { ofType, statementsOf, synthesize } from './synthesize.ts';

const template = synthesize({ fixedEgress: true });
const inNetwork = ourFunctions(template).filter(([, { Properties }]) => 'VpcConfig' in Properties);

/** Workers whose code makes a client for customers' hosts. */
const connecting = WORKERS.filter((name) => {
  const code = readFileSync(join(import.meta.dirname, `../../functions/workers/${name}.ts`), 'utf8');
  return OUTBOUND_CLIENTS.some((client) => code.includes(`${client}(`));
});

describe('fixed egress', () => {
  it('has exactly the functions whose code connects to the hosts of customers, with IPv6', () => {
    expect(inNetwork.map(([, fn]) => nameOf(fn)).sort()).toEqual([...connecting].sort());
    expect(connecting.length).toBeGreaterThan(1);
    for (const [id, { Properties }] of inNetwork)
      expect(Properties.VpcConfig, id).toMatchObject({ Ipv6AllowedForDualStack: true });
  });

  it('lets Lambda make their network interfaces, and not their code', () => {
    for (const [id, fn] of inNetwork) {
      const statements = statementsIn({ Statement: statementsOf(template, fn) });
      const [allow, deny] = statements.filter(({ actions }) =>
        actions.includes('ec2:CreateNetworkInterface'),
      );
      expect([allow?.effect, deny?.effect], id).toEqual(['Allow', 'Deny']);
      expect(deny?.actions, id).toEqual(allow?.actions);
      expect(JSON.stringify(deny?.condition), id).toContain(`function:${fn.Properties.FunctionName}"`);
    }
  });

  it('sends from addresses that outlive it, one in each zone, and to IPv6 without a way back', () => {
    const addresses = all(template, 'AWS::EC2::EIP');
    for (const [id, { DeletionPolicy }] of addresses) expect(DeletionPolicy, id).toBe('Retain');
    const used = all(template, 'AWS::EC2::NatGateway').flatMap(([, { Properties }]) =>
      references(Properties.AllocationId),
    );
    expect(used.sort()).toEqual(addresses.map(([id]) => id).sort());
    const subnets = new Set(inNetwork.flatMap(([, { Properties }]) => references(Properties.VpcConfig)));
    const tables = all(template, 'AWS::EC2::SubnetRouteTableAssociation')
      .filter(([, { Properties }]) => references(Properties.SubnetId).some((id) => subnets.has(id)))
      .flatMap(([, { Properties }]) => references(Properties.RouteTableId));
    expect(tables).toHaveLength(addresses.length);
    for (const table of tables) {
      const routes = all(template, 'AWS::EC2::Route').filter(([, { Properties }]) =>
        references(Properties.RouteTableId).includes(table),
      );
      const gateways = routes.flatMap(([, { Properties }]) => Object.keys(Properties));
      expect(gateways).toEqual(expect.arrayContaining(['NatGatewayId', 'EgressOnlyInternetGatewayId']));
    }
    for (const [, { Properties }] of all(template, 'AWS::EC2::SecurityGroup'))
      expect(Properties).not.toHaveProperty('SecurityGroupIngress');
  });

  it('tells what judges receivers that IPv6 works; without it there is no network', () => {
    const variables = (name: string, context: object) =>
      ourFunctions(synthesize({ ...context }))
        .filter(([, fn]) => nameOf(fn) === name)
        .map(([, { Properties }]) => Object(Properties.Environment).Variables.IPV6_RECEIVERS);
    for (const name of ['register-webhook', 'create-source', ...connecting]) {
      expect(variables(name, { fixedEgress: true }), name).toEqual(['allow']);
      expect(variables(name, {}), name).toEqual([undefined]);
    }
    expect(ofType(synthesize(), 'AWS::EC2::VPC')).toEqual([]);
  });
});

it('the web ACL logs what it blocks, without credentials, to the group that WAF requires', () => {
  const logged = synthesize({ wafLogs: true });
  const [[, { Properties }]] = all(logged, 'AWS::WAFv2::LoggingConfiguration') as [Found];
  expect(JSON.stringify(Properties.LoggingFilter)).toMatch(/"DROP".*"KEEP".*"BLOCK"/);
  const [group] = references(Properties.LogDestinationConfigs);
  const groups = all(logged, 'AWS::Logs::LogGroup').filter(([id]) => id === group);
  expect(JSON.stringify(groups)).toMatch(/"KmsKeyId".*"aws-waf-logs-"/);
  const [[, acl]] = all(logged, 'AWS::WAFv2::WebACL') as [Found];
  expect(JSON.stringify(acl.Properties.DataProtectionConfig)).toMatch(/authorization.*cookie.*QUERY_STRING/);
});
