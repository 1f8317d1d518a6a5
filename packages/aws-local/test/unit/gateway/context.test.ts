import { describe, expect, it } from 'vitest';
import { LocalRunError } from '../../../src/errors.ts';
import { compileParameter, compileTemplate } from '../../../src/gateway/context.ts';

const context = { requestId: 'r-1', 'error.messageString': '"No \\"such\\" route"', stage: 'api' };

describe('a mapping template', () => {
  it.each([
    ['{"message":$context.error.messageString}', '{"message":"No \\"such\\" route"}'],
    ['{"id":"$context.requestId","stage":"$context.stage"}', '{"id":"r-1","stage":"api"}'],
    ['$context.requestId.', 'r-1.'],
    ['nothing to replace', 'nothing to replace'],
    ['', ''],
  ])('renders %s', (template, expected) => {
    expect(compileTemplate(template, 'Method')(context)).toBe(expected);
  });

  it('leaves out fields that the request does not have', () => {
    expect(compileTemplate('[$context.httpMethod]', 'Method')(context)).toBe('[]');
  });

  it.each([
    '$input.body',
    '$context.unheard.of',
    '$util.escapeJavaScript($context.path)',
    '#set($x = 1)',
    '{"a": "$"}',
    '$!context.requestId',
  ])('refuses %s by name when it is compiled', (template) => {
    expect(() => compileTemplate(template, 'MyMethod')).toThrow(LocalRunError);
    expect(() => compileTemplate(template, 'MyMethod')).toThrow(/^MyMethod: /);
  });
});

describe('a header mapping', () => {
  it('is a quoted constant or a variable of the context', () => {
    expect(compileParameter("'GET, POST'", 'Method')(context)).toBe('GET, POST');
    expect(compileParameter('context.requestId', 'Method')(context)).toBe('r-1');
  });

  it.each(['integration.response.header.X', 'context.unheard', 'GET'])('refuses %s', (expression) => {
    expect(() => compileParameter(expression, 'Method')).toThrow(LocalRunError);
  });
});
