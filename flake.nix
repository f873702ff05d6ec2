# `nix build`, `nix run . -- demo`, `nix develop`. It builds sixmark from the source; nats-server is that of nixpkgs.
{
  description = "Tells whether a web service is as good over IPv6 as over IPv4, under load, and why not";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      workspace = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
      systems = [ "x86_64-linux" "aarch64-linux" ];
      forEach = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = forEach (pkgs: rec {
        default = sixmark;
        sixmark = pkgs.rustPlatform.buildRustPackage {
          pname = "sixmark";
          version = workspace.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package" "sixmark" ];
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # They need namespaces, servers and both families on loopback.
          doCheck = false;
          postInstall = ''
            $out/bin/sixmark man man
            installManPage man/*.1
            for shell in bash zsh fish; do
              $out/bin/sixmark completions $shell >sixmark.$shell
            done
            installShellCompletion --cmd sixmark --bash sixmark.bash --zsh sixmark.zsh --fish sixmark.fish
            mkdir -p $out/libexec/sixmark
            ln -s ${pkgs.nats-server}/bin/nats-server $out/libexec/sixmark/nats-server
          '';
          meta = {
            description = workspace.description;
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "sixmark";
            platforms = systems;
          };
        };
      });

      devShells = forEach (pkgs: {
        default = pkgs.mkShell {
          inputsFrom = [ self.packages.${pkgs.system}.sixmark ];
          packages = [ pkgs.clippy pkgs.rustfmt pkgs.go pkgs.shellcheck ];
        };
      });
    };
}
