import { ACCOUNT, PARTITION, REGION } from '../arns.ts';
import { LocalRunError } from '../errors.ts';

/** Identifiers of a resource: `ref` for `Ref`, `attributes` for `Fn::GetAtt`. */
export interface Definition {
  ref: string;
  attributes?: Record<string, string>;
}

type Intrinsic = (argument: unknown) => unknown;

/**
 * Resolves CloudFormation's intrinsic functions against the resources defined so far. The rest is a
 * `LocalRunError` with the name of the function, resource or attribute.
 */
export class References {
  readonly #definitions = new Map<string, Definition>();
  readonly #intrinsics: Readonly<Record<string, Intrinsic>>;

  constructor(stackName: string) {
    const pseudoParameters: Record<string, string> = {
      'AWS::AccountId': ACCOUNT,
      'AWS::Partition': PARTITION,
      'AWS::Region': REGION,
      'AWS::StackId': `arn:${PARTITION}:cloudformation:${REGION}:${ACCOUNT}:stack/${stackName}/local`,
      'AWS::StackName': stackName,
      'AWS::URLSuffix': 'amazonaws.com',
    };
    for (const [name, ref] of Object.entries(pseudoParameters)) this.define(name, { ref });

    this.#intrinsics = {
      Ref: (name) => (name === 'AWS::NoValue' ? undefined : this.#definition(text(name, 'Ref')).ref),
      'Fn::GetAtt': (path) => this.#getAtt(path),
      'Fn::Join': (argument) => this.#join(argument),
      'Fn::Select': (argument) => this.#select(argument),
      'Fn::Split': (argument) => this.#split(argument),
      'Fn::Sub': (argument) => this.#substitute(argument),
    };
  }

  define(logicalId: string, definition: Definition): void {
    this.#definitions.set(logicalId, definition);
  }

  /** Replaces intrinsic functions by their results and omits members that resolve to `AWS::NoValue`. */
  resolve(value: unknown): unknown {
    if (Array.isArray(value)) {
      return value.map((item) => this.resolve(item)).filter((item) => item !== undefined);
    }
    if (value === null || typeof value !== 'object') return value;

    const entries = Object.entries(value);
    const [first] = entries;
    if (first && entries.length === 1 && isIntrinsic(first[0])) return this.#apply(first[0], first[1]);
    return Object.fromEntries(
      entries.map(([name, part]) => [name, this.resolve(part)]).filter(([, part]) => part !== undefined),
    );
  }

  #apply(name: string, argument: unknown): unknown {
    const intrinsic = Object.hasOwn(this.#intrinsics, name) ? this.#intrinsics[name] : undefined;
    if (!intrinsic) throw new LocalRunError(`The local run does not know the intrinsic function ${name}`);
    return intrinsic(argument);
  }

  #definition(logicalId: string): Definition {
    const definition = this.#definitions.get(logicalId);
    if (!definition)
      throw new LocalRunError(`The local run has nothing to stand for a reference to ${logicalId}`);
    return definition;
  }

  #attribute(logicalId: string, attribute: string): string {
    const value = this.#definition(logicalId).attributes?.[attribute];
    if (value === undefined) {
      throw new LocalRunError(
        `The local run has nothing to stand for the attribute ${attribute} of ${logicalId}`,
      );
    }
    return value;
  }

  #getAtt(path: unknown): string {
    if (Array.isArray(path)) return this.#attribute(text(path[0], 'Fn::GetAtt'), text(path[1], 'Fn::GetAtt'));
    const [logicalId = '', ...attribute] = text(path, 'Fn::GetAtt').split('.');
    return this.#attribute(logicalId, attribute.join('.'));
  }

  #join(argument: unknown): string {
    const [delimiter, parts] = pair(argument, 'Fn::Join');
    return items(this.resolve(parts), 'Fn::Join')
      .map((part) => text(part, 'Fn::Join'))
      .join(text(delimiter, 'Fn::Join'));
  }

  #select(argument: unknown): unknown {
    const [index, from] = pair(argument, 'Fn::Select');
    const selected = items(this.resolve(from), 'Fn::Select')[Number(this.resolve(index))];
    if (selected === undefined) throw new LocalRunError(`Fn::Select finds no item ${JSON.stringify(index)}`);
    return selected;
  }

  #split(argument: unknown): string[] {
    const [delimiter, source] = pair(argument, 'Fn::Split');
    return text(this.resolve(source), 'Fn::Split').split(text(delimiter, 'Fn::Split'));
  }

  #substitute(argument: unknown): string {
    const [template, variables] = Array.isArray(argument) ? pair(argument, 'Fn::Sub') : [argument, {}];
    const own = this.resolve(variables);
    return text(template, 'Fn::Sub').replace(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      if (own && typeof own === 'object' && Object.hasOwn(own, name))
        return text(Reflect.get(own, name), 'Fn::Sub');
      return name.includes('.') ? this.#getAtt(name) : this.#definition(name).ref;
    });
  }
}

const isIntrinsic = (name: string) => name === 'Ref' || name.startsWith('Fn::');

function text(value: unknown, intrinsic: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new LocalRunError(`${intrinsic} takes text, not ${JSON.stringify(value)}`);
}

function items(value: unknown, intrinsic: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw new LocalRunError(`${intrinsic} takes a list, not ${JSON.stringify(value)}`);
}

function pair(value: unknown, intrinsic: string): [unknown, unknown] {
  const [first, second] = items(value, intrinsic);
  return [first, second];
}
