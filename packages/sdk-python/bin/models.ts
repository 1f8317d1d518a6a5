import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDocument } from './api-document.ts';
import { listModels, listParameters, type Schemas } from './schemas.ts';
import { PACKAGE } from './toolbox.ts';

const DIRECTORY = join(PACKAGE, 'src/conversation_service');

const OPTIONS = [
  ...['--input-file-type', 'openapi', '--target-python-version', '3.10'],
  ...['--formatters', 'ruff-check', 'ruff-format', '--use-double-quotes', '--disable-timestamp'],
  ...['--custom-file-header', '# Written by `npm run generate -- python`. Do not edit.'],
  ...['--use-union-operator', '--enum-field-as-literal', 'all'],
  ...['--use-schema-description', '--use-field-description'],
];
const MODEL_OPTIONS = [
  ...['--output-model-type', 'pydantic_v2.BaseModel', '--base-class', 'conversation_service.model.Model'],
  ...['--snake-case-field', '--no-alias'],
];
const PARAMETER_OPTIONS = ['--output-model-type', 'typing.TypedDict', '--use-generic-container-types'];

/**
 * Writes the types of resources, events, bodies and filters with datamodel-code-generator.
 * @param programs of {@link installTools}
 */
export function writeModels(programs: string): void {
  const document = readDocument();
  const write = (file: string, schemas: Schemas, options: readonly string[]) => {
    const input = mkdtempSync(join(tmpdir(), 'schemas-'));
    writeFileSync(join(input, 'schemas.json'), JSON.stringify(asDocument(schemas)));
    try {
      execFileSync(
        join(programs, 'datamodel-codegen'),
        [...OPTIONS, ...options, '--input', join(input, 'schemas.json'), '--output', join(DIRECTORY, file)],
        // Formatted as pyproject.toml says.
        { cwd: PACKAGE, env: { ...process.env, PATH: `${programs}:${process.env.PATH}` }, stdio: 'pipe' },
      );
    } finally {
      rmSync(input, { recursive: true });
    }
  };
  write('models.py', listModels(document), MODEL_OPTIONS);
  write('params.py', listParameters(document), PARAMETER_OPTIONS);
}

const asDocument = (schemas: Schemas) => ({
  openapi: '3.1.0',
  info: { title: 'Types', version: '1' },
  paths: {},
  components: { schemas },
});
