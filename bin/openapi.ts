import { openApiCommand } from '../lib/openapi/command.ts';

process.exitCode = openApiCommand(process.argv.slice(2));
