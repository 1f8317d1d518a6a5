import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ESTree, parseSync } from 'vite';

/** @throws Error naming the file when it cannot be parsed */
export function parseFile(file: string, source: string = readFileSync(file, 'utf8')): ESTree.Program {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  return program;
}

export const resolveImport = (importer: string, source: string): string => join(dirname(importer), source);

export const nameOf = (
  name: ESTree.ModuleExportName | ESTree.IdentifierName | ESTree.PrivateIdentifier,
): string => (name.type === 'Literal' ? name.value : name.name);

/** The statement, or its exported declaration. */
export function declarationsOf(statement: ESTree.Node): ESTree.Node[] {
  switch (statement.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportDefaultDeclaration':
      return [];
    case 'ExportNamedDeclaration':
      return statement.declaration === null ? [] : [statement.declaration];
    default:
      return [statement];
  }
}

export function namesIn(declaration: ESTree.Declaration): string[] {
  if (declaration.type === 'VariableDeclaration')
    return declaration.declarations.flatMap(({ id }) => namesInPattern(id));
  return 'id' in declaration && declaration.id?.type === 'Identifier' ? [declaration.id.name] : [];
}

function namesInPattern(pattern: ESTree.Node): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'AssignmentPattern':
      return namesInPattern(pattern.left);
    case 'RestElement':
      return namesInPattern(pattern.argument);
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element === null ? [] : namesInPattern(element)));
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        namesInPattern(property.type === 'RestElement' ? property.argument : property.value),
      );
    default:
      return [];
  }
}
