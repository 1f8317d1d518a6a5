import './style/tokens.css';
import './style/base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { session } from './api/session.ts';
import { App } from './app/app.tsx';
import { Boundary } from './app/boundary.tsx';
import { GateBox } from './app/gate-box.tsx';
import { preload } from './app/pages.tsx';
import { preferredLanguage, SpeechContext, speechIn } from './text/language.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no root');

void session.look();
preload(window.location.pathname);
const speech = await speechIn(preferredLanguage());
document.documentElement.lang = speech.language;

createRoot(root).render(
  <StrictMode>
    <SpeechContext value={speech}>
      <Boundary around={(told) => <GateBox>{told}</GateBox>}>
        <App />
      </Boundary>
    </SpeechContext>
  </StrictMode>,
);
