/**
 * Support of a resource property:
 * - `applied`: any value has an effect;
 * - `inert`: ignored, for the given reason, because it has no meaning on one machine;
 * - `oneOf`: only these values are supported;
 * - `list` and `object`: the parts are checked one by one.
 */
export type Shape =
  | { kind: 'applied' }
  | { kind: 'inert'; reason: string }
  | { kind: 'oneOf'; values: readonly unknown[] }
  | { kind: 'list'; of: Shape }
  | { kind: 'object'; properties: Properties };

export type Properties = Readonly<Record<string, Shape>>;

export const applied: Shape = { kind: 'applied' };
export const inert = (reason: string): Shape => ({ kind: 'inert', reason });
export const oneOf = (...values: unknown[]): Shape => ({ kind: 'oneOf', values });
export const list = (of: Shape): Shape => ({ kind: 'list', of });
export const object = (properties: Properties): Shape => ({ kind: 'object', properties });

/**
 * Describes the first unsupported part of `value` in words that follow "the local run", or returns undefined.
 */
export function unsupported(value: unknown, shape: Shape, path: string): string | undefined {
  switch (shape.kind) {
    case 'applied':
    case 'inert':
      return undefined;
    case 'oneOf':
      return shape.values.includes(value) ? undefined : unsupportedValue(value, shape.values, path);
    case 'list':
      return Array.isArray(value)
        ? firstOf(value.map((item, index) => () => unsupported(item, shape.of, `${path}[${index}]`)))
        : `does not know the property ${path} as anything but a list`;
    case 'object':
      return unsupportedProperty(value, shape.properties, path);
  }
}

function unsupportedProperty(value: unknown, properties: Properties, path: string): string | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return `does not know the property ${path} as anything but an object`;
  }
  return firstOf(
    Object.entries(value).map(([name, part]) => () => {
      const shape = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const partPath = path === '' ? name : `${path}.${name}`;
      return shape ? unsupported(part, shape, partPath) : `does not know the property ${partPath}`;
    }),
  );
}

function unsupportedValue(value: unknown, supported: readonly unknown[], path: string): string {
  const names = supported.map((one) => JSON.stringify(one)).join(' or ');
  return `knows the property ${path} only as ${names}, not as ${JSON.stringify(value)}`;
}

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const finding = check();
    if (finding !== undefined) return finding;
  }
  return undefined;
}
