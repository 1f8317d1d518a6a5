import { type ApiDocument, listEventSchemas, listOperations } from './api-document.ts';
import { capitalize, toConstant } from './names.ts';
import { HEADER, wrap } from './python-code.ts';
import { listChoices } from './schemas.ts';

/** Routes and results of all operations, and resources of several kinds. */
export function writeOperations(document: ApiDocument): string {
  const operations = listOperations(document);
  const choices = listChoices(
    document,
    operations.map(({ result = '' }) => result),
  );
  return [
    `${HEADER}from __future__ import annotations`,
    '',
    'from typing import Annotated, TypeAlias',
    '',
    'from pydantic import Field',
    '',
    'from .. import models',
    'from ..operation import Operation',
    '',
    ...Object.entries(choices).flatMap(([name, kinds]) =>
      wrap(
        `${name}: TypeAlias = Annotated[`,
        [kinds.map((kind) => `models.${kind}`).join(' | '), 'Field(discriminator="kind")'],
        ']',
      ),
    ),
    '',
    ...operations.flatMap(({ id, method, path, result }) => {
      const type = typeOfResult(document, result).replace('operations.', '');
      return wrap(
        `${toConstant(id)}: Operation[${type}] = Operation(`,
        [`"${id}"`, `"${method}"`, `"${path}"`, type],
        ')',
      );
    }),
    '',
  ].join('\n');
}

/** As modules beside `operations.py` write it. */
export function typeOfResult({ components: { schemas } }: ApiDocument, result: string | undefined): string {
  if (result === undefined) return 'None';
  return schemas[result]?.oneOf === undefined ? `models.${result}` : `operations.${result}`;
}

/** The union of the events that receivers get. */
export const writeEvents = (document: ApiDocument): string =>
  [
    `${HEADER}from typing import TypeAlias`,
    '',
    'from .. import models',
    '',
    'Event: TypeAlias = (',
    `    ${listEventSchemas(document)
      .map((name) => `models.${name}`)
      .join('\n    | ')}`,
    ')',
    '"""The body of a webhook request. `type` narrows `data`."""',
    '',
  ].join('\n');

/** A class for each type of error. */
export function writeErrorTypes({ components: { schemas } }: ApiDocument): string {
  const types = schemas.ApiError?.properties?.type?.['x-extensible-enum'] ?? [];
  const classOf = (type: string) => {
    const words = type
      .toLowerCase()
      .split('_')
      .filter((word) => word !== 'error');
    return `${words.map(capitalize).join('')}Error`;
  };
  return [
    `${HEADER}from ..errors import ApiError`,
    ...types.flatMap((type) => ['', '', `class ${classOf(type)}(ApiError):`, `    """\`${type}\`"""`]),
    '',
    '',
    'CLASSES: dict[str, type[ApiError]] = {',
    ...types.map((type) => `    "${type}": ${classOf(type)},`),
    '}',
    '',
    '__all__ = [',
    ...types.map((type) => `    "${classOf(type)}",`).sort(),
    ']',
    '',
  ].join('\n');
}
