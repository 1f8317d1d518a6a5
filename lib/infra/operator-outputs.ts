import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';
import { KeyringSecret } from './keyrings.ts';
import type { ServiceStack } from './stacks/service-stack.ts';
import { DataTable } from './tables.ts';

/**
 * Outputs the names of all data resources for `npm run operate`: `TableService`, `QueueFresh`,
 * `DeadLettersMeter`, `KeysSigning`. Searches the stack, so a new queue or table needs no change here.
 */
export function operatorOutputs(data: ServiceStack): void {
  for (const [name, value] of data.node.findAll().flatMap(named)) data.output(name, value);
}

function named(construct: IConstruct): [name: string, value: string][] {
  const { id, scope } = construct.node;
  if (construct instanceof DataTable) return [[`Table${id}`, construct.name]];
  if (construct instanceof KeyringSecret) return [[`Keys${id.replace(/Keys$/, '')}`, construct.arn]];
  if (construct instanceof sqs.Queue) return [[queueName(id, scope?.node.id ?? ''), construct.queueUrl]];
  return [];
}

/** @param owner worker with a `Queue` and its `DeadLetters` */
function queueName(id: string, owner: string): string {
  if (id === 'Queue') return `Queue${owner}`;
  if (id === 'DeadLetters') return `DeadLetters${owner}`;
  if (id === 'Unreadable') return `DeadLetters${id}`;
  return id.startsWith('Dead') ? `DeadLetters${id.slice('Dead'.length)}` : `Queue${id}`;
}
