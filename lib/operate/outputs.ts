import * as z from 'zod';
import { OperateError } from './errors.ts';

/** Resources of a deployment, by names such as `service`, `fresh` or `check-source`. */
export interface Resources {
  /** Table names. */
  tables: ReadonlyMap<string, string>;
  /** URLs of the service's queues. */
  queues: ReadonlyMap<string, string>;
  /** URLs of the dead-letter queues. */
  deadLetters: ReadonlyMap<string, string>;
  /** ARNs of the keyrings' secrets. */
  keys: ReadonlyMap<string, string>;
}

/** Format of `cdk deploy --outputs-file`. */
const OfCdk = z.record(z.string(), z.record(z.string(), z.string()));
/** Format of `aws cloudformation describe-stacks`. */
const OfCloudFormation = z.object({
  Stacks: z.array(
    z.object({
      StackName: z.string(),
      Outputs: z.array(z.object({ OutputKey: z.string(), OutputValue: z.string() })).default([]),
    }),
  ),
});
const Outputs = z.union([
  OfCloudFormation.transform(({ Stacks }) =>
    Object.fromEntries(
      Stacks.map(({ StackName, Outputs }) => [
        StackName,
        Object.fromEntries(Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue])),
      ]),
    ),
  ),
  OfCdk,
]);

/**
 * Outputs of a stage's stack.
 * @param text of the file, in either format
 * @param source names the file in messages
 * @throws OperateError when it has another format, or lacks the stack
 */
export function outputsOf(text: string, stage: string, source: string): Record<string, string> {
  const name = `ConversationService-${stage}`;
  const parsed = Outputs.safeParse(parseJson(text));
  if (!parsed.success)
    throw new OperateError(
      `${source} has no outputs of stacks: write it with "cdk deploy --outputs-file" or "aws cloudformation describe-stacks".`,
    );
  const outputs = parsed.data[name];
  if (outputs === undefined) throw new OperateError(`${source} does not name the stack ${name}.`);
  return outputs;
}

/** Parses outputs such as `TableService`, `QueueFresh`, `DeadLettersCheckSource`, `KeysSigning`. */
export function resourcesOf(outputs: Readonly<Record<string, string>>): Resources {
  const named = (kind: string) =>
    new Map(
      Object.entries(outputs).flatMap(([key, value]): [string, string][] => {
        const [, name] = new RegExp(`^${kind}([A-Z]\\w*)$`).exec(key) ?? [];
        return name === undefined ? [] : [[kebab(name), value]];
      }),
    );
  return {
    tables: named('Table'),
    queues: named('Queue'),
    deadLetters: named('DeadLetters'),
    keys: named('Keys'),
  };
}

const kebab = (name: string): string =>
  name.replaceAll(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
