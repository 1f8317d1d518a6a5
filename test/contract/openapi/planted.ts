import { currentDocument } from '../../../lib/openapi/current.ts';
import type { OpenApiDocument } from '../../../lib/openapi/openapi.ts';

/** The operation with the planted error, or the one whose id it repeats. */
const PLANTED = /api~1v1~1tickets|\/api\/v1\/tickets/;

/** The document with an operation that breaks a rule of each linter. */
function withErrors(): OpenApiDocument {
  const copy = structuredClone(currentDocument());
  const operation = copy.paths['/api/v1/tickets']?.get;
  if (operation) operation.operationId = 'readTicket';
  return copy;
}

/**
 * What a linter finds in the document beside a planted error, which it must find. Only at the planted place:
 * an error of the same rule elsewhere is a finding.
 * @param planted the rules that the planted error breaks
 * @throws Error when the linter finds nothing at all
 */
export async function findErrors(
  lint: (document: OpenApiDocument) => Promise<string[]>,
  planted: RegExp,
): Promise<string[]> {
  const problems = await lint(withErrors());
  if (problems.length === 0) throw new Error('the linter does not find the planted error');
  return problems.filter((problem) => !planted.test(problem) || !PLANTED.test(problem));
}
