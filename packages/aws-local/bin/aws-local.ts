#!/usr/bin/env node
import { runCommand } from '../src/command/command.ts';

process.exitCode = await runCommand(process.argv.slice(2));
