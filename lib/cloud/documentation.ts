import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { answerOtherMethods } from './other-methods.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';

/** The OpenAPI document and the reference page that shows it, for anybody. Their functions may do nothing but write their logs. */
export class Documentation extends Construct {
  constructor(scope: Construct, id: string, { code, api }: { code: CodeOf; api: apigateway.RestApi }) {
    super(scope, id);
    const common = { code, environment: {}, timeoutSeconds: 5, memoryMiB: 256 };
    const document = new ServiceFunction(this, 'ReadOpenapi', {
      ...common,
      name: 'read-openapi',
      description: 'GET /api/v1/openapi.json: Read the OpenAPI document',
    });
    const page = new ServiceFunction(this, 'Docs', {
      ...common,
      name: 'docs',
      description: 'GET /api/docs: The reference page and its files',
    });
    const served = [
      { path: '/v1/openapi.json', fn: document },
      { path: '/docs', fn: page },
      { path: '/docs/{file}', fn: page },
    ].map((entry) => ({ ...entry, method: 'GET' }));
    for (const { path, fn, method } of served)
      api.root
        .resourceForPath(path)
        .addMethod(method, new apigateway.LambdaIntegration(fn, { allowTestInvoke: false }));
    answerOtherMethods(api, served);
  }
}
