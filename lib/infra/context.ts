import { readFileSync } from 'node:fs';
import type { Node } from 'constructs';

/** Source of settings: CDK context, `-c name=value`. */
export type Context = Pick<Node, 'tryGetContext'>;

/**
 * Context that the CDK command passes to the app, parsed without the CDK. Values that do not fit into a
 * variable are in a file.
 * @param environment of the process
 */
export function givenContext({
  CDK_CONTEXT_JSON: given,
  CONTEXT_OVERFLOW_LOCATION_ENV: file,
}: Readonly<Record<string, string | undefined>>): Context {
  const values = new Map<string, unknown>([
    ...(given ? Object.entries(JSON.parse(given)) : []),
    ...(file ? Object.entries(JSON.parse(readFileSync(file, 'utf8'))) : []),
  ]);
  return { tryGetContext: (name) => values.get(name) };
}

/** A wrong context value. The message is one line for the operator. */
export class SettingError extends Error {
  override name = 'SettingError';
}

export interface Range {
  what: string;
  least: number;
  most: number;
  whole: boolean;
}
export const SECONDS = (least: number, most: number): Range => ({
  what: 'a number of seconds',
  least,
  most,
  whole: false,
});
export const WHOLE = (what: string, least: number, most: number): Range => ({
  what: `a whole number of ${what}`,
  least,
  most,
  whole: true,
});

/** @throws SettingError naming the value, its range and the input */
export function number(
  node: Context,
  name: string,
  standard: number,
  { what, least, most, whole }: Range,
): number {
  const given = text(node, name, 'keep empty');
  if (given === undefined) return standard;
  const value = Number(given);
  if (given.trim() === '' || !(value >= least && value <= most) || (whole && !Number.isInteger(value)))
    throw new SettingError(`context ${name} must be ${what} from ${least} to ${most}, not "${given}"`);
  return value;
}

/** An empty value counts as absent, like an unset shell variable. */
export function text(node: Context, name: string, empty?: 'keep empty'): string | undefined {
  const given: unknown = node.tryGetContext(name);
  if (given === undefined || (given === '' && !empty)) return undefined;
  return String(given);
}

/** @throws SettingError when it is neither true nor false */
export function flag(node: Context, name: string, standard: boolean): boolean {
  return oneOf(node, name, ['true', 'false'], standard ? 'true' : 'false') === 'true';
}

/** @throws SettingError naming the choices */
export function oneOf<T extends string>(
  node: Context,
  name: string,
  choices: readonly T[],
  standard: NoInfer<T>,
): T {
  const given = text(node, name);
  if (given === undefined) return standard;
  const chosen = choices.find((choice) => choice === given);
  if (chosen === undefined)
    throw new SettingError(`context ${name} must be one of ${choices.join(', ')}, not "${given}"`);
  return chosen;
}
