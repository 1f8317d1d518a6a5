import { wholeSynthesis } from './synthesis.ts';

wholeSynthesis(process.env.CDK_BUNDLES);
