import { Construct } from 'constructs';
import { type CodeOf, ServiceFunction } from './service-function.ts';

/** The OpenAPI document and its reference page. Their functions may only write logs. */
export class DocumentationFunctions extends Construct {
  constructor(scope: Construct, id: string, code: CodeOf) {
    super(scope, id);
    const common = { code, environment: {}, timeoutSeconds: 5, memoryMiB: 256 };
    new ServiceFunction(this, 'ReadOpenapi', {
      ...common,
      name: 'read-openapi',
      description: 'GET /api/openapi.json: Read the OpenAPI document',
    });
    new ServiceFunction(this, 'Docs', {
      ...common,
      name: 'docs',
      description: 'GET /api/docs: The reference page and its files',
    });
  }
}
