import * as z from 'zod';
import { secretArn } from '../arns.ts';
import type { SecretDefinition } from '../engines/secrets.ts';
import type { References } from '../template/references.ts';
import type { Template } from '../template/template.ts';
import { physicalName } from './physical-name.ts';
import { parseProperties } from './properties.ts';

const Secret = z.object({
  Name: z.string().optional(),
  GenerateSecretString: z
    .object({
      SecretStringTemplate: z.string().optional(),
      GenerateStringKey: z.string().optional(),
      PasswordLength: z.number().optional(),
      ExcludeCharacters: z.string().optional(),
      ExcludeLowercase: z.boolean().optional(),
      ExcludeNumbers: z.boolean().optional(),
      ExcludePunctuation: z.boolean().optional(),
      ExcludeUppercase: z.boolean().optional(),
      IncludeSpace: z.boolean().optional(),
      RequireEachIncludedType: z.boolean().optional(),
    })
    // CloudFormation generates a password with all defaults when the property is absent.
    .default({}),
});

/** The template's secrets for the engine; defines each in `references`, with its ARN as `Ref` and `Id`. */
export function provisionSecrets(template: Template, references: References): SecretDefinition[] {
  return template.ofType('AWS::SecretsManager::Secret').map((resource) => {
    const { Name, GenerateSecretString } = parseProperties(Secret, resource, references);
    const name = physicalName(template, resource, Name);
    references.define(resource.logicalId, { ref: secretArn(name), attributes: { Id: secretArn(name) } });
    return { name, generate: GenerateSecretString };
  });
}
