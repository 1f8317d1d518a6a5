import { DocumentationFunctions } from '../documentation.ts';
import { RouteFunctions } from '../route-functions.ts';
import { METHOD_NOT_ALLOWED } from '../served-methods.ts';
import { type CodeOf, ServiceFunction } from '../service-function.ts';
import type { Settings } from '../settings.ts';
import { SignInFunctions } from '../sign-in.ts';
import type { DataStack } from './data-stack.ts';
import { type Common, ServiceStack, type StageStack } from './service-stack.ts';

/** Functions of the API, with their roles. */
export class FunctionsStack extends ServiceStack {
  readonly common: Common;
  readonly routes: RouteFunctions;

  constructor(stage: StageStack, data: DataStack, { settings, code }: { settings: Settings; code: CodeOf }) {
    super(stage, 'Functions', 'the functions of routes');
    this.common = data.common;
    this.routes = new RouteFunctions(this, 'Api', { code, data, settings });
    new SignInFunctions(this, 'SignIn', { code, identity: data.identity });
    new DocumentationFunctions(this, 'Documentation', code);
    new ServiceFunction(this, 'MethodNotAllowed', {
      name: METHOD_NOT_ALLOWED,
      description: 'Answers methods that a path does not have',
      code,
      environment: {},
      timeoutSeconds: 5,
      memoryMiB: 256,
    });
  }
}
