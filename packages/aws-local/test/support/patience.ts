/** By how much longer tests wait than for the embedded engines, for slower ones: `ENGINE_PATIENCE`. */
export const PATIENCE = Number(process.env.ENGINE_PATIENCE ?? '1');
