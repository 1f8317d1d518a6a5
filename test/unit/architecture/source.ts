import { parseSync } from 'vite';

/** A node of the syntax tree (ESTree with TypeScript's additions). */
type Node = { type: string; start: number } & Record<string, unknown>;

/** A node with its ancestors, the innermost last. */
export interface Place {
  node: Node;
  within: readonly Node[];
}

/** A module that a file loads, by any form of import, re-export or reference. */
export interface Loaded {
  module: string;
  /** The names in the module, without types; `*` for all. */
  names: readonly string[];
  /** Whether only types are imported. */
  isTypeOnly: boolean;
}

/** A source file of the functions. */
export interface Source {
  /** From the functions' directory, with slashes. */
  path: string;
  places: readonly Place[];
  loads: readonly Loaded[];
}

/**
 * Parses a source file for the checks.
 * @throws Error when the text is not TypeScript, or imports a module with a computed name
 */
export function sourceOf(path: string, text: string): Source {
  const { program, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} cannot be read: ${error.message}`);
  const places = [...placesIn(program, [])];
  return { path, places, loads: places.flatMap(({ node }) => loadedBy(node) ?? []) };
}

function* placesIn(value: unknown, within: readonly Node[]): Generator<Place> {
  if (Array.isArray(value)) {
    for (const item of value) yield* placesIn(item, within);
    return;
  }
  if (!isNode(value)) return;
  yield { node: value, within };
  const inside = [...within, value];
  for (const child of Object.values(value)) yield* placesIn(child, inside);
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** Stands for a module whose name is not in the text, as in `import(name)`. */
export const UNREADABLE = 'what only a run can tell';

function loadedBy(node: Node): Loaded | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
      return {
        module: textOf(node.source),
        names: valuesIn(node.specifiers).map(importedName),
        isTypeOnly: node.importKind === 'type',
      };
    case 'ExportNamedDeclaration':
      if (!isNode(node.source)) return undefined;
      return {
        module: textOf(node.source),
        names: valuesIn(node.specifiers).map((specifier) => nameOf(specifier.local)),
        isTypeOnly: node.exportKind === 'type',
      };
    case 'ExportAllDeclaration':
      return { module: textOf(node.source), names: ['*'], isTypeOnly: node.exportKind === 'type' };
    case 'ImportExpression':
      return { module: textOf(node.source), names: ['*'], isTypeOnly: false };
    case 'TSImportType':
      return { module: textOf(node.source), names: ['*'], isTypeOnly: true };
    case 'TSExternalModuleReference':
      return { module: textOf(node.expression), names: ['*'], isTypeOnly: false };
    default:
      return undefined;
  }
}

function importedName(specifier: Node): string {
  if (specifier.type === 'ImportDefaultSpecifier') return 'default';
  return specifier.type === 'ImportNamespaceSpecifier' ? '*' : nameOf(specifier.imported);
}

const valuesIn = (specifiers: unknown): Node[] =>
  Array.isArray(specifiers)
    ? specifiers.filter(isNode).filter(({ importKind, exportKind }) => (importKind ?? exportKind) !== 'type')
    : [];

const textOf = (value: unknown): string =>
  isNode(value) && value.type === 'Literal' && typeof value.value === 'string' ? value.value : UNREADABLE;

/** The name of an identifier, or of a string in its place. */
export function nameOf(value: unknown): string {
  if (!isNode(value)) return '';
  return typeof value.name === 'string' ? value.name : textOf(value);
}

/** Whether an identifier is only a member's name: `a.name` or `{ name: … }`. */
export function isMemberName({ node, within }: Place): boolean {
  const parent = within.at(-1);
  if (parent === undefined || parent.computed === true) return false;
  if (parent.type === 'MemberExpression') return parent.property === node;
  if (parent.type === 'Property') return parent.key === node && parent.shorthand !== true;
  return ['TSPropertySignature', 'TSMethodSignature', 'PropertyDefinition', 'MethodDefinition'].includes(
    parent.type,
  )
    ? parent.key === node
    : false;
}
